package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// at returns the value at a path of names, numbers, @name for the list item with that name and * for all items; nil if
// there is none.
func at(value any, path string) any {
	if path == "" {
		return value
	}
	step, rest, _ := strings.Cut(path, "/")
	if fields, ok := value.(map[string]any); ok {
		if _, found := fields[path]; found {
			return fields[path] // the rest of the path, because a label may contain slashes
		}
		return at(fields[step], rest)
	}
	list, _ := value.([]any)
	var all []any
	for i, item := range list {
		fields, _ := item.(map[string]any)
		switch {
		case step == "*":
			all = append(all, at(item, rest))
		case step == strconv.Itoa(i), fields != nil && step == fmt.Sprintf("@%v", fields["name"]):
			return at(item, rest)
		}
	}
	if all == nil {
		return nil
	}
	return all
}

func compare(path string, equals, decoded, got any) error {
	if decoded != nil {
		content, err := base64.StdEncoding.DecodeString(fmt.Sprint(got))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		var parsed any
		if err := json.Unmarshal(content, &parsed); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		equals, got = decoded, parsed
	}
	if !reflect.DeepEqual(plain(equals), plain(got)) {
		return fmt.Errorf("%s is %v, want %v", path, got, equals)
	}
	return nil
}

// match compares a subset of the actual value: lists of conditions by type, other lists item by item. An expected empty
// map or list must exist and be empty.
func match(path string, want, got any) error {
	switch w := want.(type) {
	case map[string]any:
		if exact, ok := w["$exact"]; ok {
			return compare(path, exact, nil, got)
		}
		if document, ok := w["$json"]; ok {
			var parsed any
			if text, ok := got.(string); !ok || json.Unmarshal([]byte(text), &parsed) != nil {
				return fmt.Errorf("%s is %v, want JSON", path, got)
			}
			return compare(path, document, nil, parsed)
		}
		if pattern, ok := w["$regex"].(string); ok {
			if got == nil || !regexp.MustCompile(pattern).MatchString(fmt.Sprint(got)) {
				return fmt.Errorf("%s is %v, want a match of %s", path, got, pattern)
			}
			return nil
		}
		if w["$absent"] == true {
			if got != nil {
				return fmt.Errorf("%s is %v, want none", path, got)
			}
			return nil
		}
		fields, there := got.(map[string]any)
		if len(w) == 0 && (!there || len(fields) > 0) {
			return fmt.Errorf("%s is %v, want an empty map", path, got)
		}
		for key, value := range w {
			if err := match(path+"."+key, value, fields[key]); err != nil {
				return err
			}
		}
		return nil
	case []any:
		list, there := got.([]any)
		if !there {
			return fmt.Errorf("%s is %v, want a list", path, got)
		}
		if typed(w) {
			list = ofTypes(w, list)
		}
		if len(list) != len(w) {
			return fmt.Errorf("%s is %v, want %v", path, got, want)
		}
		for i := range w {
			if err := match(fmt.Sprintf("%s[%d]", path, i), w[i], list[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return compare(path, want, nil, got)
}

// typed returns true if the items of a list have types.
func typed(list []any) bool {
	for _, item := range list {
		if fields, ok := item.(map[string]any); !ok || fields["type"] == nil {
			return false
		}
	}
	return len(list) > 0
}

// ofTypes returns the items of a list whose types are expected, in the expected order.
func ofTypes(wanted, list []any) (out []any) {
	for _, want := range wanted {
		for _, item := range list {
			if fields, ok := item.(map[string]any); ok && fields["type"] == want.(map[string]any)["type"] {
				out = append(out, item)
			}
		}
	}
	return out
}

// plain returns a value as decoded from JSON, so that numbers are comparable.
func plain(value any) (out any) {
	text, err := json.Marshal(value)
	if err != nil || json.Unmarshal(text, &out) != nil {
		return value
	}
	return out
}
