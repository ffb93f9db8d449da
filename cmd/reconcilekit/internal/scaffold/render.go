package scaffold

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// render executes templates, by name, to files, by path.
func render(data any, names map[string]string) (Files, error) {
	files := Files{}
	for name, file := range names {
		parsed, err := template.ParseFS(templates, "templates/"+name)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", name, err)
		}
		var w strings.Builder
		if err := parsed.Execute(&w, data); err != nil {
			return nil, fmt.Errorf("write %s: %w", file, err)
		}
		files[file] = w.String()
	}
	return files, nil
}
