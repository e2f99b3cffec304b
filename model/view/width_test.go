package view

import "testing"

func TestColumns(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
	}{{"", 0}, {"abc", 3}, {"é", 1}, {"e\u0301", 1}, {"显卡", 4}, {"ｶﾅ", 2}, {"ＡＢ", 4}, {"한글", 4}, {"🚀", 2}, {"µs·", 3}, {"a\u200bb", 2}} {
		if got := textColumns(c.text); got != c.columns {
			t.Errorf("%q takes %d columns, want %d", c.text, got, c.columns)
		}
	}
	for _, c := range []struct{ got, want string }{
		{cut("显卡零一", 8), "显卡零一"},
		{cut("显卡零一二", 8), "显卡零~"},
		{cut("abcdef", 4), "abc~"},
		{pad("显", 4), "显  "},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
