package naming

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// errNotUTF8 is returned for text that JSON cannot encode unchanged.
var errNotUTF8 = errors.New("text is not valid UTF-8, which JSON cannot carry")

// Hash returns the SHA-256 of the values as 64 hexadecimal characters, the same in every process and version. It accepts the values of
// [HashInputs]. The encoding includes type and length of each value, so that ("a", "b") and ("ab") differ, and "4" and 4.
func Hash(values ...any) (string, error) {
	sum, err := digest(nil, values)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum[:]), nil
}

// digest hashes parts and inputs.
func digest(parts []string, inputs []any) ([sha256.Size]byte, error) {
	var room [512]byte
	image, err := appendImage(room[:0], parts, inputs)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	return sha256.Sum256(image), nil
}

// appendImage appends the encoding of parts and inputs to hash, with their order and boundaries. Different lists have different
// encodings. Never change it: that renames objects in clusters.
func appendImage(image []byte, parts []string, inputs []any) ([]byte, error) {
	image = append(image, 1) // the version of this encoding
	image = appendCount(image, len(parts))
	for _, part := range parts {
		image = appendText(image, part)
	}
	image = appendCount(image, len(inputs))
	for i, input := range inputs {
		var err error
		if image, err = appendInput(image, input); err != nil {
			return nil, fmt.Errorf("hash input %d of type %T, want a value for encoding/json: %w", i, input, err)
		}
	}
	return image, nil
}

// appendCount appends a count.
func appendCount(image []byte, n int) []byte {
	return binary.AppendUvarint(image, uint64(n)) //nolint:gosec // a length is not negative
}

// appendText appends a string, prefixed with its length.
func appendText(image []byte, s string) []byte {
	image = appendCount(image, len(s))
	return append(image, s...)
}

// appendString appends a JSON string.
func appendString(image []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, errNotUTF8
	}
	return appendText(append(image, 's'), s), nil
}

// appendNumber appends a JSON number by its text.
func appendNumber(image []byte, text string) []byte { return appendText(append(image, 'd'), text) }

// appendInput appends a value by its JSON meaning. Common types take a fast path with the same result.
func appendInput(image []byte, input any) ([]byte, error) {
	switch v := input.(type) {
	case nil:
		return append(image, 'n'), nil
	case string:
		return appendString(image, v)
	case bool:
		return appendBool(image, v), nil
	case int:
		return appendNumber(image, strconv.Itoa(v)), nil
	case int32:
		return appendNumber(image, strconv.FormatInt(int64(v), 10)), nil
	case int64:
		return appendNumber(image, strconv.FormatInt(v, 10)), nil
	case []string:
		if v == nil {
			return append(image, 'n'), nil
		}
		return appendList(image, v)
	case map[string]string:
		if v == nil {
			return append(image, 'n'), nil
		}
		return appendStrings(image, v)
	default:
		return appendJSON(image, v)
	}
}

func appendBool(image []byte, v bool) []byte {
	if v {
		return append(image, 't')
	}
	return append(image, 'f')
}

// appendList appends a list of strings.
func appendList(image []byte, list []string) ([]byte, error) {
	image = appendCount(append(image, 'a'), len(list))
	for _, element := range list {
		var err error
		if image, err = appendString(image, element); err != nil {
			return nil, err
		}
	}
	return image, nil
}

// appendStrings appends a map of strings in the order of its keys.
func appendStrings(image []byte, m map[string]string) ([]byte, error) {
	image = appendCount(append(image, 'o'), len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		var err error
		if image, err = appendString(image, key); err != nil {
			return nil, err
		}
		if image, err = appendString(image, m[key]); err != nil {
			return nil, err
		}
	}
	return image, nil
}

// appendJSON encodes and decodes the value with encoding/json, so that neither Go types nor the escapes of a Go version matter.
func appendJSON(image []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(text, []byte(`\ufffd`)) { // encoding/json writes this for invalid UTF-8
		return nil, errNotUTF8
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return nil, err
	}
	return appendPlain(image, plain)
}

// appendPlain appends a value as encoding/json decodes it into an empty interface.
func appendPlain(image []byte, plain any) ([]byte, error) {
	var err error
	switch v := plain.(type) {
	case string:
		return appendString(image, v)
	case bool:
		return appendBool(image, v), nil
	case json.Number:
		return appendNumber(image, v.String()), nil
	case []any:
		image = appendCount(append(image, 'a'), len(v))
		for _, element := range v {
			if image, err = appendPlain(image, element); err != nil {
				return nil, err
			}
		}
		return image, nil
	case map[string]any:
		image = appendCount(append(image, 'o'), len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if image, err = appendString(image, key); err != nil {
				return nil, err
			}
			if image, err = appendPlain(image, v[key]); err != nil {
				return nil, err
			}
		}
		return image, nil
	default: // null
		return append(image, 'n'), nil
	}
}
