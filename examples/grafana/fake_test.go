package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// fakeGrafana fakes the HTTP API of several Grafana servers in memory. The host of the URL selects the server.
type fakeGrafana struct {
	mu      sync.Mutex
	servers map[string]*fakeServer
	calls   []string
	// fault returns how the call of this number fails: not at all, before it arrives, or with its response lost.
	fault func(call int) fault
}

type fault int

const (
	noFault fault = iota
	refused
	answerLost
)

// fakeServer is the state of one server.
type fakeServer struct {
	user, password, token string
	down                  bool
	folders               map[string]map[string]any
	dashboards            map[string]map[string]any // with the folder in folderUid
}

// server returns the server of a host. It creates a missing one with the credentials admin and secret.
func (f *fakeGrafana) server(host string) *fakeServer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.locked(host)
}

func (f *fakeGrafana) locked(host string) *fakeServer {
	if f.servers == nil {
		f.servers = map[string]*fakeServer{}
	}
	if f.servers[host] == nil {
		f.servers[host] = &fakeServer{
			user: "admin", password: "secret", token: "token", folders: map[string]map[string]any{}, dashboards: map[string]map[string]any{},
		}
	}
	return f.servers[host]
}

// client returns a client whose calls reach the fake without a network.
func (f *fakeGrafana) client() *http.Client { return &http.Client{Transport: f} }

// RoundTrip implements http.RoundTripper.
func (f *fakeGrafana) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	f.calls = append(f.calls, r.Method+" "+r.URL.Host+r.URL.Path)
	call, down := len(f.calls), f.locked(r.URL.Host).down
	f.mu.Unlock()
	how := noFault
	if f.fault != nil {
		how = f.fault(call)
	}
	if down || how == refused {
		return nil, errors.New("connection refused")
	}
	r.Host = r.URL.Host
	answer := httptest.NewRecorder()
	f.ServeHTTP(answer, r)
	if how == answerLost {
		return nil, errors.New("connection reset")
	}
	return answer.Result(), nil
}

// contents lists the resources of a server, sorted.
func (f *fakeGrafana) contents(host string) (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.locked(host)
	for uid, folder := range s.folders {
		list = append(list, fmt.Sprintf("folder %s: %v", uid, folder["title"]))
	}
	for uid, dashboard := range s.dashboards {
		list = append(list, fmt.Sprintf("dashboard %s: %v in %q", uid, dashboard["title"], dashboard["folderUid"]))
	}
	slices.Sort(list)
	return list
}

// ServeHTTP implements http.Handler.
func (f *fakeGrafana) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.locked(r.Host)
	user, password, _ := r.BasicAuth()
	if r.Header.Get("Authorization") != "Bearer "+s.token && (user != s.user || password != s.password) {
		reply(w, http.StatusUnauthorized, map[string]any{"message": "Invalid username or password"})
		return
	}
	body := map[string]any{}
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			reply(w, http.StatusBadRequest, map[string]any{"message": "bad request data"})
			return
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/folders/{uid}", func(w http.ResponseWriter, r *http.Request) {
		found(w, s.folders[r.PathValue("uid")], "folder not found")
	})
	mux.HandleFunc("POST /api/folders", func(w http.ResponseWriter, _ *http.Request) { s.createFolder(w, body) })
	mux.HandleFunc("PUT /api/folders/{uid}", func(w http.ResponseWriter, r *http.Request) { s.updateFolder(w, r.PathValue("uid"), body) })
	mux.HandleFunc("DELETE /api/folders/{uid}", func(w http.ResponseWriter, r *http.Request) { s.deleteFolder(w, r.PathValue("uid")) })
	mux.HandleFunc("GET /api/dashboards/uid/{uid}", func(w http.ResponseWriter, r *http.Request) { s.getDashboard(w, r.PathValue("uid")) })
	mux.HandleFunc("POST /api/dashboards/db", func(w http.ResponseWriter, _ *http.Request) { s.saveDashboard(w, body) })
	mux.HandleFunc("DELETE /api/dashboards/uid/{uid}", func(w http.ResponseWriter, r *http.Request) {
		found(w, s.dashboards[r.PathValue("uid")], "Dashboard not found")
		delete(s.dashboards, r.PathValue("uid"))
	})
	mux.ServeHTTP(w, r)
}

func reply(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(err)
	}
}

func found(w http.ResponseWriter, resource map[string]any, missing string) {
	if resource == nil {
		reply(w, http.StatusNotFound, map[string]any{"message": missing})
		return
	}
	reply(w, http.StatusOK, resource)
}

func (s *fakeServer) createFolder(w http.ResponseWriter, body map[string]any) {
	uid, title := fmt.Sprint(body["uid"]), fmt.Sprint(body["title"])
	switch {
	case title == "":
		reply(w, http.StatusBadRequest, map[string]any{"message": "folder title cannot be empty"})
	case s.folders[uid] != nil:
		reply(w, http.StatusConflict, map[string]any{"message": "a folder with that uid already exists"})
	default:
		s.folders[uid] = map[string]any{"uid": uid, "title": title, "version": 1.0}
		reply(w, http.StatusOK, s.folders[uid])
	}
}

func (s *fakeServer) updateFolder(w http.ResponseWriter, uid string, body map[string]any) {
	folder := s.folders[uid]
	switch {
	case folder == nil:
		reply(w, http.StatusNotFound, map[string]any{"message": "folder not found"})
	case body["overwrite"] != true && body["version"] != folder["version"]:
		reply(w, http.StatusPreconditionFailed, map[string]any{"message": "The folder has been changed by someone else", "status": "version-mismatch"})
	default:
		folder["title"], folder["version"] = body["title"], folder["version"].(float64)+1
		reply(w, http.StatusOK, folder)
	}
}

// deleteFolder deletes the folder and its dashboards.
func (s *fakeServer) deleteFolder(w http.ResponseWriter, uid string) {
	found(w, s.folders[uid], "folder not found")
	delete(s.folders, uid)
	maps.DeleteFunc(s.dashboards, func(_ string, d map[string]any) bool { return d["folderUid"] == uid })
}

func (s *fakeServer) getDashboard(w http.ResponseWriter, uid string) {
	stored := s.dashboards[uid]
	if stored == nil {
		found(w, nil, "Dashboard not found")
		return
	}
	model := maps.Clone(stored)
	delete(model, "folderUid")
	reply(w, http.StatusOK, map[string]any{"dashboard": model, "meta": map[string]any{"folderUid": stored["folderUid"]}})
}

func (s *fakeServer) saveDashboard(w http.ResponseWriter, body map[string]any) {
	model, _ := body["dashboard"].(map[string]any)
	folder, _ := body["folderUid"].(string)
	uid, _ := model["uid"].(string)
	title, _ := model["title"].(string)
	version := 1.0
	old := s.dashboards[uid]
	if old != nil {
		version = old["version"].(float64) + 1
	}
	switch {
	case title == "":
		reply(w, http.StatusBadRequest, map[string]any{"message": "Dashboard title cannot be empty"})
	case folder != "" && s.folders[folder] == nil:
		reply(w, http.StatusBadRequest, map[string]any{"message": "folder not found"})
	case old != nil && body["overwrite"] != true && model["version"] != old["version"]:
		reply(w, http.StatusPreconditionFailed, map[string]any{"message": "The dashboard has been changed by someone else", "status": "version-mismatch"})
	default:
		saved := maps.Clone(model)
		saved["id"], saved["version"], saved["folderUid"] = 7.0, version, folder
		s.dashboards[uid] = saved
		reply(w, http.StatusOK, map[string]any{"uid": uid, "version": version, "status": "success"})
	}
}

// edit changes the title of a folder, as a user of Grafana does.
func (f *fakeGrafana) edit(host, uid, title string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.locked(host).folders[uid]["title"] = title
}
