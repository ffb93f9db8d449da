package pathtemplate

import "sync"

// What a [Cache] holds. Templates come from users, so neither their number nor their size has a bound of its own.
const (
	maxCached      = 1024
	maxCachedBytes = 256 * 1024 // of text; compiled, it takes up to about 50 times that
)

// Cache keeps compiled templates, so that a pass over an unchanged owner compiles nothing. Give the same pointer in the [Options]
// of every call. The zero value is ready, safe for concurrent use, and holds at most 1024 templates
// and 256 KiB of their text. Errors are not kept.
type Cache struct {
	mu       sync.RWMutex
	compiled map[cacheKey]*compiledPath
	bytes    int // of the texts of the templates
}

type cacheKey struct {
	template string
	encoded  bool
}

// compile returns the compiled template, from the cache if there is one.
func (c *Cache) compile(template string, encoded bool) (*compiledPath, error) {
	if c == nil {
		return compilePath(template, encoded)
	}
	key := cacheKey{template: template, encoded: encoded}
	c.mu.RLock()
	compiled := c.compiled[key]
	c.mu.RUnlock()
	if compiled != nil {
		return compiled, nil
	}
	compiled, err := compilePath(template, encoded)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled == nil || len(c.compiled) >= maxCached || c.bytes+len(template) > maxCachedBytes {
		// Starting over is simpler than an eviction order, and compiling again costs microseconds.
		c.compiled, c.bytes = make(map[cacheKey]*compiledPath), 0
	}
	if c.compiled[key] == nil {
		c.bytes += len(template)
	}
	c.compiled[key] = compiled
	return compiled, nil
}
