package naming

import (
	"errors"
	"fmt"
	"strings"

	"github.com/distribution/reference"
)

const (
	// defaultRegistry is the registry of an image reference that names none.
	defaultRegistry = "docker.io"
	// defaultTag is the tag of an image reference that has neither tag nor digest.
	defaultTag = "latest"
	// shortDigestLength is how many characters of a digest stand in for a version.
	shortDigestLength = 6
)

// Image is a container image reference, taken apart. Make it with [ParseImage].
type Image struct {
	// Registry is the host and port in lower case, "docker.io" when the reference names none.
	Registry string
	// Repository is the path as written: "nginx" stays "nginx", the "library/" that Docker means is not added.
	Repository string
	// Name is the last element of Repository.
	Name string
	// Tag is the tag as written; "latest" when there is neither tag nor digest; empty when there is a digest alone.
	Tag string
	// Digest is the digest as written, algorithm included; empty when there is none.
	Digest string
}

// ParseImage takes an image reference apart: [registry/]repository[:tag][@digest], after the grammar of github.com/distribution/reference.
//
// It is more forgiving than a container runtime in two ways, because a name can be made of both: letters of the repository may be upper
// case, and a digest may be shorter than its algorithm makes it. [Image.Validate] has the strict answer.
func ParseImage(ref string) (Image, error) {
	if img, ok := plainImage(ref); ok {
		return img, nil
	}
	return libraryImage(ref)
}

// libraryImage leaves the grammar to the library and finds in the reference what was written.
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

// asciiLower leaves other letters alone: some become ASCII when lowered.
func asciiLower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// splitImage cuts tag and digest from the name of a reference and reports what is plainly missing.
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

// checkDigest checks algorithm:encoded after the OCI image specification (descriptor, Digests), lengths aside.
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

// consistsOf reports that s has only ASCII letters, digits and these marks.
func consistsOf(s, marks string) bool {
	for i := range len(s) {
		if classes[s[i]] <= mark && strings.IndexByte(marks, s[i]) < 0 {
			return false
		}
	}
	return true
}

// Parts returns what of the reference is good for a name, each a DNS label (never empty for a parsed reference) with runs of dashes made one: the registry, the name, and
// the version, which is the tag, the first 6 characters of the digest, or both. A name of [Derive] that must keep images
// apart takes the whole reference as hash input besides.
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

// Validate reports what a container runtime would refuse about the reference: upper-case letters in the repository, or a digest of the
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

// hasWord reports an ASCII letter or digit in s.
func hasWord(s string) bool {
	for i := range len(s) {
		if classes[s[i]] > mark {
			return true
		}
	}
	return false
}

// words is DNSLabel with one dash for a run of characters that are replaced.
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
