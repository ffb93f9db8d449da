package main

import (
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTakePicture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.png")

	t.Run("without a browser", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())

		if err := takePicture(t.Context(), "http://127.0.0.1:1/", file); err == nil || !strings.Contains(err.Error(), "no browser") {
			t.Errorf("got %v, want an error that names what is missing", err)
		}
	})

	if _, err := exec.LookPath(browsers[0]); err != nil {
		return
	}

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<h1>owners</h1><script>(async () => { for (;;) await new Promise(done => setTimeout(done, 100)) })()</script>"))
	}))
	defer server.Close()

	if err := takePicture(t.Context(), server.URL, file); err != nil {
		t.Fatal(err)
	}

	data, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()

	if picture, err := png.Decode(data); err != nil || picture.Bounds().Dx() < 1000 {
		t.Errorf("picture %v, error %v", picture, err)
	}
}
