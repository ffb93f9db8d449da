package observe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
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

// rendered is an answer in one format.
type rendered struct {
	status        int
	content, body string
	tag           string // the ETag of the body
}

func (a *answer) render(form string) (*rendered, error) {
	out := &rendered{status: a.status, body: a.text, content: "text/plain; charset=utf-8"}
	var err error
	switch form {
	case formJSON:
		var raw []byte
		raw, err = json.MarshalIndent(a.data, "", "  ")
		out.body, out.content = string(raw), "application/json"
	case formHTML:
		var page strings.Builder
		err = pages.ExecuteTemplate(&page, a.page, a.data)
		out.body, out.content = page.String(), "text/html; charset=utf-8"
	}
	sum := sha256.Sum256([]byte(out.body))
	out.tag = `"` + hex.EncodeToString(sum[:16]) + `"`
	return out, err
}
