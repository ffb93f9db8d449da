package observe

import (
	"bytes"
	"encoding/json"
)

// showDataflow selects the view of the kinds that the controllers watch, read and write, instead of owners.
const showDataflow = "dataflow"

// The formats of an answer, besides text.
const (
	formHTML = "html"
	formJSON = "json"
)

// answer is a response in all formats.
type answer struct {
	status int
	text   string
	page   string // the name of the page's template
	data   any
}

// render returns the body in a format, and its content type.
func (a *answer) render(format string) (body []byte, content string, err error) {
	switch format {
	case formJSON:
		body, err = json.MarshalIndent(a.data, "", "  ")
		return body, "application/json", err
	case formHTML:
		var page bytes.Buffer
		err = pages.ExecuteTemplate(&page, a.page, a.data)
		return page.Bytes(), "text/html; charset=utf-8", err
	}
	return []byte(a.text), "text/plain; charset=utf-8", nil
}
