package routing

import "sync"

// What a [PathCache] holds. Templates come from users, so neither their number nor their size has a bound of its own.
const (
	maxCached      = 1024
	maxCachedBytes = 256 * 1024 // of text; compiled, it takes up to about 50 times that
)

// PathCache keeps compiled templates, so that a pass over an unchanged owner compiles nothing. It is a [PathOption]: pass
// the same pointer to every call. The zero value is ready, safe for concurrent use, and holds at most 1024 templates
// and 256 KiB of their text. Errors are not kept.
type PathCache struct {
	mu       sync.RWMutex
	compiled map[pathKey]*compiledPath
	bytes    int // of the texts of the templates
}

type pathKey struct {
	template string
	mode     SegmentMode
}

// ApplyToPath implements [PathOption].
func (c *PathCache) ApplyToPath(options *PathOptions) { options.Cache = c }

// compile returns the compiled template, from the cache if there is one.
func (c *PathCache) compile(template string, mode SegmentMode) (*compiledPath, error) {
	if c == nil {
		return compilePath(template, mode)
	}
	key := pathKey{template: template, mode: mode}
	c.mu.RLock()
	compiled := c.compiled[key]
	c.mu.RUnlock()
	if compiled != nil {
		return compiled, nil
	}
	compiled, err := compilePath(template, mode)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled == nil || len(c.compiled) >= maxCached || c.bytes+len(template) > maxCachedBytes {
		// Starting over is simpler than an eviction order, and compiling again costs microseconds.
		c.compiled, c.bytes = make(map[pathKey]*compiledPath), 0
	}
	if c.compiled[key] == nil {
		c.bytes += len(template)
	}
	c.compiled[key] = compiled
	return compiled, nil
}
