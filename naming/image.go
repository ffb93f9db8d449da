package naming

import (
	"errors"
	"fmt"
	"strings"

	"github.com/distribution/reference"
)

const (
	// defaultRegistry is the registry of an image reference without one.
	defaultRegistry = "docker.io"
	// defaultTag is the tag of an image reference that has neither tag nor digest.
	defaultTag = "latest"
	// shortDigestLength is the number of characters of a digest that serve as version.
	shortDigestLength = 6
)

// Image is a parsed container image reference. Create it with [ParseImage].
type Image struct {
	// Registry is the host and port in lower case, "docker.io" if the reference has none.
	Registry string
	// Repository is the path as written: "nginx" stays "nginx", without Docker's implied "library/".
	Repository string
	// Name is the last element of Repository.
	Name string
	// Tag is the tag as written; "latest" without tag and digest; empty with a digest and no tag.
	Tag string
	// Digest is the digest as written, including the algorithm; empty if there is none.
	Digest string
}

// ParseImage parses an image reference: [registry/]repository[:tag][@digest], by the grammar of github.com/distribution/reference.
//
// It is more lenient than a container runtime: letters of the repository may be upper case, and a digest may be shorter than its
// algorithm requires. Both can still become a name. [Image.Validate] is strict.
func ParseImage(ref string) (Image, error) {
	if img, ok := plainImage(ref); ok {
		return img, nil
	}
	return libraryImage(ref)
}

// libraryImage parses the reference with the library and restores its original spelling.
func libraryImage(ref string) (Image, error) {
	img, name, err := splitImage(ref)
	if err != nil {
		return Image{}, err
	}
	lower := strings.Map(asciiLower, name)
	check := lower
	if img.Tag != "" {
		check += ":" + img.Tag
	}
	named, err := reference.ParseNormalizedNamed(check)
	if err != nil {
		return Image{}, fmt.Errorf("image reference %q, want [registry/]repository[:tag][@digest]: %w", ref, err)
	}
	path := reference.Path(named)
	if !strings.HasSuffix(lower, path) {
		path = strings.TrimPrefix(path, "library/")
	}
	img.Registry = reference.Domain(named)
	if !hasWord(img.Registry) {
		return Image{}, errors.New("registry is empty after sanitization")
	}
	img.Repository = name[len(name)-len(path):] // as written
	img.Name = img.Repository[strings.LastIndexByte(img.Repository, '/')+1:]
	if img.Tag == "" && img.Digest == "" {
		img.Tag = defaultTag
	}
	return img, nil
}

// asciiLower lowers ASCII letters only; some other letters become ASCII when lowered.
func asciiLower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// splitImage splits tag and digest from the name of a reference and reports missing elements.
func splitImage(ref string) (img Image, name string, err error) {
	if ref == "" {
		return Image{}, "", errors.New("image reference is empty")
	}
	at := strings.LastIndexByte(ref, '/') + 1
	last := ref[at:]
	named, dgst, digested := strings.Cut(last, "@")
	if digested {
		if err := checkDigest(last, dgst); err != nil {
			return Image{}, "", err
		}
	}
	base, tag, tagged := strings.Cut(named, ":")
	if tagged && tag == "" {
		return Image{}, "", fmt.Errorf("malformed tag reference (empty tag): %s", named)
	}
	switch {
	case !hasWord(base):
		return Image{}, "", errors.New("image name is empty after sanitization")
	case tagged && !hasWord(tag), digested && !hasWord(shortDigest(dgst)):
		return Image{}, "", errors.New("image tag is empty after sanitization")
	}
	return Image{Tag: tag, Digest: dgst}, ref[:at+len(base)], nil
}

// checkDigest checks algorithm:encoded by the OCI image specification (descriptor, Digests), except for the length.
func checkDigest(last, dgst string) error {
	algorithm, encoded, ok := strings.Cut(dgst, ":")
	switch {
	case !ok:
		return fmt.Errorf("malformed digest (missing colon): %s", dgst)
	case encoded == "":
		return fmt.Errorf("malformed digest (no hash after colon): %s", dgst)
	case algorithm == "" || !consistsOf(algorithm, "+._-") || !consistsOf(encoded, "=_-"):
		return fmt.Errorf("malformed digest reference: %s", last)
	}
	return nil
}

// consistsOf reports whether s consists of ASCII letters, digits and these marks.
func consistsOf(s, marks string) bool {
	for i := range len(s) {
		if classes[s[i]] <= mark && strings.IndexByte(marks, s[i]) < 0 {
			return false
		}
	}
	return true
}

// Parts returns parts of the reference for a name, each a DNS label (never empty for a parsed reference) with runs of dashes collapsed:
// the registry, the name, and the version, which is the tag, the first 6 characters of the digest, or both. To distinguish images by
// name, also pass the full reference to [Derive] as a hash input.
func (i Image) Parts() (registry, name, version string) {
	version = i.Tag
	switch short := shortDigest(i.Digest); {
	case version == "":
		version = short
	case short != "":
		version += "-" + short
	}
	return words(i.Registry), words(i.Name), words(version)
}

// String returns the full reference: registry/repository[:tag][@digest].
func (i Image) String() string {
	s := i.Registry + "/" + i.Repository
	if i.Tag != "" {
		s += ":" + i.Tag
	}
	if i.Digest != "" {
		s += "@" + i.Digest
	}
	return s
}

// Validate returns an error if a container runtime would reject the reference: upper-case letters in the repository, or a digest of the
// wrong length.
func (i Image) Validate() error {
	if _, err := reference.ParseNormalizedNamed(i.String()); err != nil {
		return fmt.Errorf("image reference %q, want [registry/]repository[:tag][@digest] in lower case: %w", i, err)
	}
	return nil
}

// shortDigest returns the first characters of a digest after its algorithm.
func shortDigest(dgst string) string {
	_, encoded, _ := strings.Cut(dgst, ":")
	return encoded[:min(len(encoded), shortDigestLength)]
}

// hasWord reports whether s has an ASCII letter or digit.
func hasWord(s string) bool {
	for i := range len(s) {
		if classes[s[i]] > mark {
			return true
		}
	}
	return false
}

// words is DNSLabel, but replaces a run of invalid characters by one dash.
func words(s string) string {
	var room [MaxLabel]byte
	clean := room[:0]
	for i := 0; i < len(s) && len(clean) < MaxLabel; i++ {
		switch c := classes[s[i]]; {
		case c > mark:
			clean = append(clean, c)
		case len(clean) > 0 && clean[len(clean)-1] != '-':
			clean = append(clean, '-')
		}
	}
	clean = trimEnd(clean, 0)
	if string(clean) == s {
		return s
	}
	return string(clean)
}
