package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// requestsMetric counts the requests of a client-go client.
const requestsMetric = "rest_client_requests_total"

// requestCounts is a number of API requests by HTTP method.
type requestCounts map[string]int

// minus returns the requests since an earlier count. The counters of a restarted program start at zero, so the result is at least zero.
func (r requestCounts) minus(earlier requestCounts) requestCounts {
	difference := requestCounts{}

	for method, count := range r {
		if more := count - earlier[method]; more > 0 {
			difference[method] = more
		}
	}

	return difference
}

// rounded returns the number of all requests rounded to one digit, because it varies between demos.
func (r requestCounts) rounded() int {
	total, unit := 0, 1
	for _, count := range r {
		total += count
	}

	for total/unit >= 10 {
		unit *= 10
	}

	return (total + unit/2) / unit * unit
}

// String lists the methods in a fixed order.
func (r requestCounts) String() string {
	if len(r) == 0 {
		return "none"
	}

	total, parts := 0, make([]string, 0, len(r))
	for _, method := range slices.Sorted(maps.Keys(r)) {
		total += r[method]
		parts = append(parts, strconv.Itoa(r[method])+" "+method)
	}

	return fmt.Sprintf("%d (%s)", total, strings.Join(parts, ", "))
}

// requests returns the number of requests in the program's metrics.
func (p *program) requests(ctx context.Context) (requestCounts, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.metrics+"/metrics", nil)
	if err != nil {
		return nil, err
	}

	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read the operator's metrics: %w", err)
	}
	defer response.Body.Close()

	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read the operator's metrics: %s", response.Status)
	}

	parser := expfmt.NewTextParser(model.UTF8Validation)

	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return nil, fmt.Errorf("parse the operator's metrics: %w", err)
	}

	return countRequests(families[requestsMetric]), nil
}

func countRequests(family *dto.MetricFamily) requestCounts {
	counts := requestCounts{}

	for _, metric := range family.GetMetric() {
		for _, label := range metric.GetLabel() {
			if label.GetName() == "method" {
				counts[label.GetValue()] += int(metric.GetCounter().GetValue())
			}
		}
	}

	return counts
}
