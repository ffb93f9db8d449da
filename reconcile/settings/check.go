package settings

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Check prints the settings that follow from a file as JSON, or returns what is wrong with them, without a cluster: what a flag
// -check-config of an operator does. Resolve gets the content of the file.
func Check[T any](file string, resolve func(content []byte) (T, error), stdout io.Writer) error {
	content, err := os.ReadFile(file) //nolint:gosec // whoever starts the program names the file
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
