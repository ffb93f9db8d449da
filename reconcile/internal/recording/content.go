package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// utcTime is a time in full resolution, with the offset of the zone that the operator ran in.
type utcTime struct{ time.Time }

// MarshalJSON writes the time as RFC 3339 has it, with nanoseconds.
func (t utcTime) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.Format(time.RFC3339Nano))
}

// UnmarshalJSON reads what MarshalJSON has written.
func (t *utcTime) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	parsed, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return fmt.Errorf("now: want a time such as %q, got %q", time.RFC3339Nano, text)
	}
	t.Time = parsed
	return nil
}

// textDuration is a time span, written as time.Duration prints it.
type textDuration struct{ time.Duration }

// MarshalText writes the span.
func (d textDuration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads it.
func (d *textDuration) UnmarshalText(data []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(data))
	return err
}

// jsonValue is the JSON of an object, with its keys sorted.
type jsonValue []byte

// MarshalJSON returns the content.
func (c jsonValue) MarshalJSON() ([]byte, error) {
	if len(c) == 0 {
		return []byte("null"), nil
	}
	return c, nil
}

// UnmarshalJSON takes the content over, with its keys sorted.
func (c *jsonValue) UnmarshalJSON(data []byte) error {
	tree, err := parse(data)
	if err != nil {
		return err
	}
	*c, err = content(tree)
	return err
}

// content is the JSON of a value with all keys sorted.
func content(value any) (jsonValue, error) {
	if value == nil {
		return nil, nil
	}
	data, err := encode(value)
	if err != nil {
		return nil, err
	}
	tree, err := parse(data)
	if err != nil {
		return nil, err
	}
	return encode(tree)
}

// sparse is content without nulls, which Go writes for what is not set.
func sparse(value any) (jsonValue, error) {
	full, err := content(value)
	if err != nil {
		return nil, err
	}
	return content(dropNulls(full.tree()))
}

func dropNulls(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if inner == nil {
				delete(v, key)
				continue
			}
			dropNulls(inner)
		}
	case []any:
		for _, inner := range v {
			dropNulls(inner)
		}
	}
	return value
}

// tree is the content as maps, lists and scalars, nil when it is broken, which nothing of ours makes.
func (c jsonValue) tree() any {
	value, err := parse(c)
	if err != nil {
		return nil
	}
	return value
}

// parse keeps numbers as they are written.
func parse(data []byte) (value any, err error) {
	if len(data) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
