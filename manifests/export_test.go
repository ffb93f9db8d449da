package manifests

import "encoding/json"

// JSON encodes an object with its spec and data.
func JSON(object Object) (string, error) {
	text, err := json.Marshal(object)
	return string(text), err
}
