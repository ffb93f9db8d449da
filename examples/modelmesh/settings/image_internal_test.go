package settings

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestImages checks that a tag of the user replaces the digest of the defaults, and that a digest of the user takes
// precedence over both.
func TestImages(t *testing.T) {
	t.Parallel()
	defaults := bytes.ReplaceAll(builtIn, []byte("tag: latest"), []byte("tag: latest, digest: 'sha256:1'"))
	got := map[string][3]string{}
	want := map[string][3]string{}
	for image, reference := range map[string]string{
		"{name: i}":                       "i@sha256:1",
		"{name: i, tag: mine}":            "i:mine",
		"{name: i, TAG: mine}":            "i:mine",
		"{name: i, digest: d}":            "i@d",
		"{name: i, tag: mine, digest: d}": "i@d",
	} {
		document := "{modelMeshImage: " + image + ", storageHelperImage: " + image + ", restProxy: {image: " + image + "}}"
		config, err := parse([]byte(document), defaults)
		if err != nil {
			t.Fatal(err)
		}
		got[image] = [3]string{config.ModelMeshImage.Reference(), config.StorageHelperImage.Reference(), config.RESTProxy.Image.Reference()}
		want[image] = [3]string{reference, reference, reference}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
}
