package routing

import "sync"

// maxCached is how many templates a [PathCache] holds. Templates come from users, so their number has no bound of its own.
const maxCached = 1024

// PathCache keeps compiled templates, so that a pass over an unchanged owner compiles nothing. It is a [PathOption]: pass
// the same pointer to every call. The zero value is ready, safe for concurrent use, and holds at most 1024 templates.
// Errors are not kept.
type PathCache struct {
	mu       sync.RWMutex
	compiled map[pathKey]*compiledPath
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
	if c.compiled == nil || len(c.compiled) >= maxCached {
		// Starting over is simpler than an eviction order, and compiling again costs microseconds.
		c.compiled = make(map[pathKey]*compiledPath)
	}
	c.compiled[key] = compiled
	return compiled, nil
}
