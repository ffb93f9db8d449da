package assets

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DefaultIndex lists the archives with etcd and kube-apiserver, as used by setup-envtest.
const DefaultIndex = "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml"

// A build takes minutes, so a download may be slow, but an unresponsive network must fail fast.
const (
	indexTimeout   = 5 * time.Second
	archiveTimeout = 3 * time.Minute
	maxIndex       = 4 << 20
	maxArchive     = 1 << 30
)

// archive is one entry of the index.
type archive struct {
	version, hash, link string
}

// downloadable reports whether the archives contain c.
func downloadable(c component) bool { return c.name == "etcd" || c.name == "kube-apiserver" }

// download replaces the outdated components in the archives by those of the newest patch version, and returns the components left to
// build. It reports a failure on progress and then returns all.
func download(ctx context.Context, index, folder, source string, stale []component, progress io.Writer) []component {
	wanted := slices.DeleteFunc(slices.Clone(stale), func(c component) bool { return !downloadable(c) })
	if index == "" || len(wanted) == 0 {
		return stale
	}

	version, err := downloadInto(ctx, index, folder, source, wanted)
	if err != nil {
		fmt.Fprintf(progress, "control plane: building it, because the download failed: %s\n", strings.ReplaceAll(err.Error(), "\n", " "))

		return stale
	}

	fmt.Fprintf(progress, "control plane: downloaded %s of %s\n", join(wanted), version)

	return slices.DeleteFunc(slices.Clone(stale), downloadable)
}

func downloadInto(ctx context.Context, index, folder, source string, wanted []component) (version string, err error) {
	kube, err := readVersion(source, components()[1])
	if err != nil {
		return "", err
	}

	list, err := fetch(ctx, index, indexTimeout, maxIndex)
	if err != nil {
		return "", err
	}

	found, err := choose(list, kube, runtime.GOOS+"-"+runtime.GOARCH)
	if err != nil {
		return "", err
	}

	data, err := fetch(ctx, found.link, archiveTimeout, maxArchive)
	if err != nil {
		return "", err
	}

	if sum := sha512.Sum512(data); hex.EncodeToString(sum[:]) != found.hash {
		return "", fmt.Errorf("%s: the checksum differs from that of %s", found.link, index)
	}

	scratch, err := os.MkdirTemp(folder, ".download-")
	if err != nil {
		return "", fmt.Errorf("create a temporary folder: %w", err)
	}
	defer os.RemoveAll(scratch)

	if err := unpack(data, scratch, wanted); err != nil {
		return "", fmt.Errorf("%s: %w", found.link, err)
	}

	for _, c := range wanted {
		if err := install(ctx, folder, filepath.Join(scratch, c.name), source, c); err != nil {
			return "", fmt.Errorf("install %s: %w", c.name, err)
		}
	}

	return found.version, nil
}

// fetch returns the content of a URL, at most limit bytes.
func fetch(ctx context.Context, url string, timeout time.Duration, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}

	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()

	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("get %s: %s", url, response.Status)
	}

	data, err := io.ReadAll(io.LimitReader(response.Body, limit))
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", url, err)
	}

	return data, nil
}

// choose returns the archive of the newest patch version of the minor version of kube. The index is YAML of three levels: the version,
// the name of the archive, and its hash and selfLink.
func choose(index []byte, kube, platform string) (best archive, err error) {
	minor := kube[:strings.LastIndexByte(kube, '.')+1]

	var at archive

	mine, patch := false, -1

	for lines := bufio.NewScanner(bytes.NewReader(index)); lines.Scan(); {
		key, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), ":")
		value = strings.Trim(strings.TrimSpace(value), `"'`)

		switch {
		case strings.HasPrefix(key, "v"):
			at, mine = archive{version: key}, false
		case strings.HasSuffix(key, ".tar.gz"):
			at.hash, at.link = "", ""
			mine = key == "envtest-"+at.version+"-"+platform+".tar.gz"
		case key == "hash":
			at.hash = value
		case key == "selfLink":
			at.link = value
		}

		rest, isMinor := strings.CutPrefix(at.version, minor)
		if !mine || !isMinor || at.hash == "" || at.link == "" {
			continue
		}

		if number, err := strconv.Atoi(rest); err == nil && number > patch {
			best, patch = at, number
		}
	}

	if patch < 0 {
		return archive{}, fmt.Errorf("the index has no archive of %sx for %s", minor, platform)
	}

	return best, nil
}

// unpack writes the requested binaries of an archive into folder.
func unpack(data []byte, folder string, wanted []component) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}

	left := slices.Clone(wanted)

	for entries := tar.NewReader(unzipped); len(left) > 0; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the archive has no %s", join(left))
		}

		if err != nil {
			return err
		}

		i := slices.IndexFunc(left, func(c component) bool { return c.name == path.Base(header.Name) })
		if i < 0 || header.Typeflag != tar.TypeReg {
			continue
		}

		file, err := os.OpenFile(filepath.Join(folder, left[i].name), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
		if err != nil {
			return err
		}

		_, err = io.Copy(file, io.LimitReader(entries, maxArchive))
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}

		left = slices.Delete(left, i, i+1)
	}

	return nil
}
