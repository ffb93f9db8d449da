package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// browsers are programs that can take a screenshot without a display.
var browsers = []string{"chromium-headless-shell", "chromium", "google-chrome"} //nolint:gochecknoglobals // a constant

// picture stores a screenshot of the operator's debug page about the owner next to the demo. Without a browser it does nothing.
func (s *programs) picture(ctx context.Context, v *victim, out *screen) {
	query := url.Values{"kind": {v.owner.GetKind()}, "namespace": {v.owner.GetNamespace()}, "name": {v.owner.GetName()}, "format": {"html"}}
	page := "http://" + s.operator.metrics + "/debug/explain?" + query.Encode()

	file, err := pictureFile()
	if err == nil {
		err = takePicture(ctx, page, file)
	}

	if err != nil {
		out.say("  picture    none: " + err.Error())

		return
	}

	out.say("  picture    " + file)
}

// pictureFile returns explain.png next to the program.
func pictureFile() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the demo's folder: %w", err)
	}

	return filepath.Join(filepath.Dir(program), "explain.png"), nil
}

// takePicture takes a screenshot of the page with a browser.
func takePicture(ctx context.Context, page, file string) error {
	for _, name := range browsers {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}

		profile, err := os.MkdirTemp("", "demo-browser")
		if err != nil {
			return fmt.Errorf("make a profile for the browser: %w", err)
		}
		defer os.RemoveAll(profile)

		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()

		command := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
			"--user-data-dir="+profile, "--window-size=1400,1000", "--timeout=2000", "--screenshot="+file, page)
		if text, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, text)
		}

		_, err = os.Stat(file)

		return err
	}

	return fmt.Errorf("no browser, such as %s", browsers[0])
}
