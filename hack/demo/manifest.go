package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// manifest is one object of a file.
type manifest struct {
	file   string
	object *unstructured.Unstructured
}

// readManifests reads the objects of all YAML files in and below dir, in the order of the file names. Kustomizations are skipped. A
// missing folder has no objects.
func readManifests(dir string) ([]manifest, error) {
	var found []manifest

	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}

		if err != nil || entry.IsDir() {
			return err
		}

		if extension := filepath.Ext(path); extension != ".yaml" && extension != ".yml" {
			return nil
		}

		objects, err := readFile(path)
		found = append(found, objects...)

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the manifests of %s: %w", dir, err)
	}

	return found, nil
}

// readFile reads the documents of one file.
func readFile(path string) ([]manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}

	var found []manifest

	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return found, nil
		}

		if err != nil {
			return nil, fmt.Errorf("split %s: %w", path, err)
		}

		data, err := yaml.YAMLToJSON(document)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", path, err)
		}

		if string(data) == "null" {
			continue // a document with only comments
		}

		// Unlike a plain map this preserves integers.
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(data); err != nil {
			return nil, fmt.Errorf("parse %s: %w", path, err)
		}

		if object.GetKind() != "Kustomization" {
			found = append(found, manifest{file: path, object: object})
		}
	}
}
