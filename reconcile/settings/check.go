package settings

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Check prints the settings that result from a file as JSON, or returns an error, without a cluster. Use it for a flag such as
// -check-config of an operator. resolve receives the content of the file.
func Check[T any](file string, resolve func(content []byte) (T, error), stdout io.Writer) error {
	content, err := os.ReadFile(file) //nolint:gosec // the user of the program names the file
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	value, err := resolve(content)
	if err != nil {
		return fmt.Errorf("settings: %s: %w", file, err)
	}
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("settings: %s: print them: %w", file, err)
	}
	_, err = fmt.Fprintln(stdout, string(text))
	return err
}
