package releases

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Project is a project with its releases, the oldest first.
type Project struct {
	// Name is the name of the project.
	Name string
	// Releases are the releases.
	Releases []Release
}

// Release is one release of a project.
type Release struct {
	// Name is the name of the file.
	Name string
	// Text is the stream of YAML documents.
	Text string
}

// Read reads the projects of a folder. Its files are named PROJECT-RELEASE.yaml, where the releases of a project sort by name.
func Read(folder string) ([]Project, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*-*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", folder, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read %s: it has no files PROJECT-RELEASE.yaml", folder)
	}
	slices.Sort(files)
	var projects []Project
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // the caller chooses the folder
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", folder, err)
		}
		name := filepath.Base(file)
		project := name[:strings.LastIndex(name, "-")]
		if last := len(projects) - 1; last < 0 || projects[last].Name != project {
			projects = append(projects, Project{Name: project})
		}
		p := &projects[len(projects)-1]
		p.Releases = append(p.Releases, Release{Name: name, Text: string(text)})
	}
	return projects, nil
}
