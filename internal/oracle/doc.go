// Package oracle searches for a wrong "unchanged" of the apply engine on a real
// API server.
//
// A story is one owner with a few children of random kinds. In each step the
// plan changes, or somebody else writes to a child, or the engine restarts;
// then passes run until the engine rests. Whenever it calls a child unchanged,
// a server-side dry run of the apply of its intent, forced, under the same
// field manager, must change nothing: neither a value nor who owns it. The
// intent is taken from another engine, which remembers nothing and is shown an
// object that it cannot take for right, so that nothing of what decides about
// equality is believed.
//
// Three things are not asked for, as they are the API server's and no decision of
// the engine. An object that the server has stored and to which it lets nobody
// apply counts as unchanged. What the server fills in in place of a list or an
// object that was emptied is not left behind. And a seed may be left to others
// as a whole or in part.
//
// Everything random comes from a seed, and a story is a function of the seed
// and its number. The cache is not an informer but what the story says it
// shows, so that it lags when the story wants it to and never otherwise.
package oracle
