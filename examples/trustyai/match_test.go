package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// match compares an expected with an actual value: maps by the expected keys, lists of maps with names or types by
// these, other lists in order, and all other values by their text. A map with one key that starts with $ is a matcher.
// An expected empty map or list must exist and be empty.
func match(want, got any, path string) error {
	switch w := want.(type) {
	case map[string]any:
		if name, argument, ok := matcher(w); ok {
			return apply(name, argument, got, path)
		}
		g, ok := got.(map[string]any)
		if !ok && got != nil || len(w) == 0 && (!ok || len(g) > 0) {
			return fmt.Errorf("%s is %s, want a map %s", path, text(got), text(want))
		}
		for key, value := range w {
			if err := match(value, g[key], path+"."+key); err != nil {
				return err
			}
		}
		return nil
	case []any:
		return matchList(w, got, path)
	case string:
		if digest, ok := strings.CutPrefix(w, "@sha256:"); ok {
			sum := sha256.Sum256([]byte(digest))
			w = hex.EncodeToString(sum[:])
		}
		want = w
	}
	if text(want) != text(got) {
		return fmt.Errorf("%s is %s, want %s", path, text(got), text(want))
	}
	return nil
}

func matcher(m map[string]any) (name string, argument any, ok bool) {
	if len(m) != 1 {
		return "", nil, false
	}
	for key, value := range m {
		if strings.HasPrefix(key, "$") {
			return key, value, true
		}
	}
	return "", nil, false
}

func apply(name string, argument, got any, path string) error {
	var holds bool
	switch name {
	case "$absent":
		holds = got == nil
	case "$re":
		holds = got != nil && regexp.MustCompile(argument.(string)).MatchString(plain(got))
	case "$contains":
		holds = strings.Contains(plain(got), argument.(string))
	case "$lacks":
		holds = got != nil && !strings.Contains(plain(got), argument.(string))
	case "$len":
		list, _ := got.([]any)
		m, _ := got.(map[string]any)
		holds = float64(len(list)+len(m)) == argument.(float64)
	case "$has":
		holds = true
		list, _ := got.([]any)
		for _, wanted := range argument.([]any) {
			found := false
			for _, item := range list {
				found = found || match(wanted, item, path) == nil
			}
			holds = holds && found
		}
	case "$keys":
		m, _ := got.(map[string]any)
		holds = len(m) == len(argument.([]any))
		for _, key := range argument.([]any) {
			_, there := m[key.(string)]
			holds = holds && there
		}
	default:
		return fmt.Errorf("%s: unknown matcher %s", path, name)
	}
	if !holds {
		return fmt.Errorf("%s is %s, want %s %s", path, text(got), name, text(argument))
	}
	return nil
}

func matchList(want []any, got any, path string) error {
	g, ok := got.([]any)
	if !ok {
		return fmt.Errorf("%s is %s, want a list", path, text(got))
	}
	for _, key := range []string{"name", "type"} {
		if !keyed(want, key) {
			continue
		}
		for _, item := range want {
			last := fmt.Errorf("%s has no %s", path, text(item.(map[string]any)[key]))
			for _, candidate := range g {
				if c, ok := candidate.(map[string]any); ok && text(c[key]) == text(item.(map[string]any)[key]) {
					if last = match(item, candidate, path+"["+text(c[key])+"]"); last == nil {
						break
					}
				}
			}
			if last != nil {
				return last
			}
		}
		return nil
	}
	if len(g) != len(want) {
		return fmt.Errorf("%s is %s, want %s", path, text(got), text(want))
	}
	for i := range want {
		if err := match(want[i], g[i], fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	return nil
}

func keyed(list []any, key string) bool {
	for _, item := range list {
		m, ok := item.(map[string]any)
		if _, has := m[key]; !ok || !has {
			return false
		}
	}
	return len(list) > 0
}

// plain returns a string unchanged and other values as JSON.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return text(v)
}

func text(v any) string {
	data, _ := json.Marshal(v) //nolint:errchkjson // it came from JSON
	return string(data)
}
