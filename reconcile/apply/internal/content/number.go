package content

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
)

var errNotJSON = errors.New("want one JSON value")

// decode parses JSON without changing its numbers.
func decode(data []byte) (any, error) {
	var out any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errNotJSON
	}
	return numbers(out), nil
}

// numbers replaces the numbers in decoded JSON by int64 and float64 if these are exact.
func numbers(value any) any {
	switch x := value.(type) {
	case map[string]any:
		for name, below := range x {
			x[name] = numbers(below)
		}
	case []any:
		for i := range x {
			x[i] = numbers(x[i])
		}
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n
		}
		if n, err := x.Float64(); err == nil && exact(x, n) {
			return normal(n)
		}
	}
	return value
}

// exact reports whether the float equals the number in the text.
func exact(text json.Number, n float64) bool {
	if len(text) > 400 {
		return false // an exponent could make it very long
	}
	want, ok := rational(string(text))
	have, _ := rational(strconv.FormatFloat(n, 'g', -1, 64))
	return ok && want.Cmp(have) == 0
}

func rational(text string) (*big.Rat, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || (f == 0 && text != "0") || (f != 0 && (math.Abs(f) > 1e100 || math.Abs(f) < 1e-100)) {
		return nil, false // big.Rat would expand such exponents
	}
	return new(big.Rat).SetString(text)
}

func unsigned(n uint64) any {
	if n > math.MaxInt64 {
		return json.Number(strconv.FormatUint(n, 10))
	}
	return int64(n)
}

// float encodes a float of this size as encoding/json does.
func float(x float64, bits int) (any, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, fmt.Errorf("encode %v: want a number that JSON has", x)
	}
	if bits == 32 {
		x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', -1, 32), 64)
	}
	return normal(x), nil
}

// normal replaces minus zero by zero.
func normal(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}

// integer returns the float as an int64, and false if it is not an integer in that range.
func integer(x float64) (int64, bool) {
	const limit = 1 << 63
	if x < -limit || x >= limit || x != math.Trunc(x) {
		return 0, false
	}
	return int64(x), true
}
