package naming

import "strings"

// plainImage parses common references in one scan and leaves others to the library, whose regular expressions take several microseconds.
// It accepts only references that the library accepts, with the same result; FuzzParseImage compares the two.
//
// A common reference is [host[:port]/]path[:tag][@digest] in lower case, except for Docker's aliases.
func plainImage(ref string) (Image, bool) {
	named, dgst, digested := strings.Cut(ref, "@")
	if digested && (checkDigest(ref, dgst) != nil || !hasWord(shortDigest(dgst))) {
		return Image{}, false
	}
	host, path, hasHost := strings.Cut(named, "/")
	if !hasHost || !isHost(host) {
		host, path = defaultRegistry, named
	}
	repository, tag, tagged := strings.Cut(path, ":")
	if tagged && (!isTag(tag) || !hasWord(tag)) {
		return Image{}, false
	}
	if !tagged && !digested {
		tag = defaultTag
	}
	start := 0
	for i := 0; i <= len(repository); i++ {
		if i == len(repository) || repository[i] == '/' {
			if !isPathComponent(repository[start:i]) {
				return Image{}, false
			}
			start = i + 1
		}
	}
	// 64 characters can be an image ID; the library checks long paths.
	if len(path) >= 64 || host == "index.docker.io" {
		return Image{}, false
	}
	name := repository[strings.LastIndexByte(repository, '/')+1:]
	return Image{Registry: host, Repository: repository, Name: name, Tag: tag, Digest: dgst}, true
}

// isHost reports whether the first element of a reference is a registry: a host with a dot or port, or localhost.
func isHost(s string) bool {
	host, port, hasPort := strings.Cut(s, ":")
	if hasPort && (port == "" || strings.Trim(port, "0123456789") != "") {
		return false
	}
	if !hasPort && host != "localhost" && strings.IndexByte(host, '.') < 0 {
		return false
	}
	before := byte('.')
	for i := range len(host) {
		c := host[i]
		switch {
		case isWord(c):
		case c == '-' && before != '.':
		case c == '.' && isWord(before):
		default:
			return false
		}
		before = c
	}
	return isWord(before)
}

// isPathComponent reports whether s is letters and digits, separated by single dots or underscores or by dashes.
func isPathComponent(s string) bool {
	before := byte('.')
	for i := range len(s) {
		c := s[i]
		switch {
		case isWord(c):
		case (c == '.' || c == '_') && isWord(before):
		case c == '-' && (isWord(before) || before == '-'):
		default:
			return false
		}
		before = c
	}
	return isWord(before)
}

// isTag reports whether s is a word character and up to 127 more with dots and dashes.
func isTag(s string) bool {
	if s == "" || len(s) > 128 || s[0] == '.' || s[0] == '-' {
		return false
	}
	return consistsOf(s, "._-")
}

// isWord reports whether c is a lower-case letter or a digit.
func isWord(c byte) bool { return classes[c] == c && c > mark }
