package config

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseDecimal(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "16.3": "16.3", "-16.30": "-16.3", "+5": "5", ".5": "0.5", "5.": "5",
		"1e9": "1000000000", "1.5E-3": "0.0015", "312e12": "312000000000000", "0.10": "0.1", "-0": "0",
		strings.Repeat("9", 40): strings.Repeat("9", 40),
	} {
		d, err := ParseDecimal(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if d.String() != want {
			t.Errorf("%s became %s, want %s", text, d, want)
		}
	}
}

func TestParseDecimalRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                      `"" is not a decimal number`,
		".":                     `"." is not a decimal number`,
		"-":                     `"-" is not a decimal number`,
		"1e":                    `"1e" is not a decimal number`,
		"e5":                    `"e5" is not a decimal number`,
		"1.2.3":                 `"1.2.3" is not a decimal number`,
		"1/3":                   `"1/3" is not a decimal number`,
		"0x10":                  `"0x10" is not a decimal number`,
		"1_000":                 `"1_000" is not a decimal number`,
		"NaN":                   `"NaN" is not a decimal number`,
		"Inf":                   `"Inf" is not a decimal number`,
		"007":                   `"007" has a leading zero`,
		"1e31":                  `the exponent of "1e31" lies outside -30 to 30`,
		"1e-31":                 `the exponent of "1e-31" lies outside -30 to 30`,
		"1e9999999999999999999": `the exponent of "1e9999999999999999999" lies outside -30 to 30`,
		strings.Repeat("1", 41): `"` + strings.Repeat("1", 40) + `..." has more than 40 digits`,
	} {
		if d, err := ParseDecimal(text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v and %v, want %s", text, d, err, want)
		}
	}
}

func TestLongProductKeepsItsDigits(t *testing.T) {
	long := dec(strings.Repeat("7", 40))
	text, err := json.Marshal(long.Mul(long))
	if err != nil || string(text) != long.Mul(long).String() {
		t.Errorf("got %s and %v", text, err)
	}
}

func TestDecimalIsExact(t *testing.T) {
	tenth := dec("0.1")
	if sum := tenth.Add(tenth).Add(tenth); !sum.Equal(dec("0.3")) {
		t.Errorf("0.1 + 0.1 + 0.1 = %s", sum)
	}
	var zero Decimal
	if !zero.Equal(dec("0")) || zero.String() != "0" || zero.Sign() != 0 || zero.Float64() != 0 {
		t.Error("the zero value is not 0")
	}
	tenth.Rat().SetInt64(7)
	if !tenth.Equal(dec("0.1")) {
		t.Error("a caller can change a decimal")
	}
}

// decimals draws texts of decimals within the limits.
var decimals = rapid.StringMatching(`-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,19})?(e-?([0-9]|[12][0-9]|30))?`)

func TestDecimalRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dec(decimals.Draw(t, "decimal"))
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if again := dec(string(text)); !again.Equal(d) {
			t.Errorf("%s became %s by way of %s", d, again, text)
		}
	})
}

func TestDecimalArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := dec(decimals.Draw(t, "a")), dec(decimals.Draw(t, "b"))
		if !a.Add(b).Sub(b).Equal(a) {
			t.Errorf("%s + %s - %s is not the first", a, b, b)
		}
		if a.Mul(b).Cmp(b.Mul(a)) != 0 {
			t.Errorf("%s times %s depends on the order", a, b)
		}
		if a.Cmp(b) != a.Sub(b).Sign() {
			t.Errorf("%s and %s compare unlike their difference", a, b)
		}
	})
}

func TestUnitsConvertExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SampledFrom([]Unit{Nanosecond, Microsecond, Millisecond, Second})
		from, to := units.Draw(t, "from"), units.Draw(t, "to")
		d := dec(decimals.Draw(t, "duration"))
		if back := d.convert(from, to).convert(to, from); !back.Equal(d) {
			t.Errorf("%s in %s came back from %s as %s", d, from, to, back)
		}
	})
	if got := dec("1.5").convert(Millisecond, Microsecond); !got.Equal(dec("1500")) {
		t.Errorf("1.5 ms are %s us", got)
	}
	if _, ok := Tick.Seconds(); ok {
		t.Error("a tick has a length in seconds")
	}
}
