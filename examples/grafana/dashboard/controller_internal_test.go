package dashboard

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		want model
		err  string
	}{
		`{"title": "CPU"}`: {want: model{"title": "CPU"}},
		`{"id": 3, "version": 4, "__inputs": [], "a": 1}`:  {want: model{"a": 1.0}},
		`{"a": "${DS_PROMETHEUS} of ${DS_OTHER}", "b": 1}`: {want: model{"a": "prometheus of ${DS_OTHER}", "b": 1.0}},
		`null`: {err: "InvalidModel: the model of the dashboard is null, want a JSON object"},
		`[]`:   {err: "InvalidModel: the model of the dashboard is not a JSON object: json: cannot unmarshal array into Go value of type map[string]interface {}"},
		``:     {err: "InvalidModel: the model of the dashboard is not a JSON object: unexpected end of JSON input"},
	} {
		got, err := parse(text, []v1beta1.GrafanaDashboardDatasource{{InputName: "DS_PROMETHEUS", DatasourceName: "prometheus"}})
		message := ""
		if err != nil {
			message = err.Error()
		}
		if diff := cmp.Diff(c.want, got); diff != "" || message != c.err {
			t.Errorf("%s: error %q, want %q; (-want +got):\n%s", text, message, c.err, diff)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	wanted := dashboard{Model: model{"uid": "cpu", "title": "CPU", "panels": []any{}}, FolderUID: "team"}
	for response, want := range map[string]bool{
		`{"dashboard": {"uid": "cpu", "title": "CPU", "panels": []}, "meta": {"folderUid": "team"}}`:                        true,
		`{"dashboard": {"uid": "cpu", "title": "CPU", "panels": [], "id": 1, "version": 5}, "meta": {"folderUid": "team"}}`: true,
		`{"dashboard": {"uid": "cpu", "title": "CPU", "panels": []}, "meta": {"folderUid": ""}}`:                            false,
		`{"dashboard": {"uid": "cpu", "title": "cpu", "panels": []}, "meta": {"folderUid": "team"}}`:                        false,
		`{"dashboard": {"uid": "cpu", "title": "CPU"}, "meta": {"folderUid": "team"}}`:                                      false,
	} {
		var observed stored
		if err := json.Unmarshal([]byte(response), &observed); err != nil {
			t.Fatal(err)
		}
		if got := same(wanted, observed); got != want {
			t.Errorf("%s: got %t, want %t", response, got, want)
		}
	}
}
