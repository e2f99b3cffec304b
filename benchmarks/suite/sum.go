package suite

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

//go:embed sums.txt
var sums []byte

// Sum returns the SHA-256, in hexadecimal, of what the instance says, without what
// is known about it: the JSON object of its line in suite.json, without best_bound
// and best_value, keys in ascending order, no spaces.
func (in *Instance) Sum() string {
	text, err := in.canonical()
	if err != nil {
		panic(err) // an Instance holds numbers and texts only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (in *Instance) canonical() ([]byte, error) {
	data, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	delete(fields, "best_bound")
	delete(fields, "best_value")
	for key, value := range fields {
		if value == nil {
			delete(fields, key)
		}
	}
	return json.Marshal(fields)
}

// Sums returns the sum of each instance by name, as sums.txt has them.
func Sums() (map[string]string, error) {
	all := map[string]string{}
	for n, line := range bytes.Split(bytes.TrimSpace(sums), []byte("\n")) {
		fields := bytes.Fields(line)
		if len(fields) != 2 {
			return nil, fmt.Errorf("sums.txt:%d: want a sum and a name", n+1)
		}
		all[string(fields[1])] = string(fields[0])
	}
	return all, nil
}
