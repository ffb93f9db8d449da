package webhook

import (
	"fmt"
	"strconv"
)

// The annotations of a runtime that configure its scaling.
const (
	annotationClass  = "serving.kserve.io/autoscalerClass"
	annotationMetric = "serving.kserve.io/metrics"
	annotationTarget = "serving.kserve.io/targetUtilizationPercentage"
	annotationMin    = "serving.kserve.io/min-scale"
	annotationMax    = "serving.kserve.io/max-scale"
)

const classHPA = "hpa"

// Messages of the product.
const (
	notOurs     = "Not validating ServingRuntime because it is not ModelMesh compatible"
	passed      = "Passed all validation checks for ServingRuntime"
	wrongTarget = "The target utilization percentage should be a [1-100] integer."
	bothScaled  = "Autoscaler is enabled and also replicas variable set. You can not set both."
	wrongMin    = "The min replicas should be a integer."
	minTooSmall = "The min replicas should be more than 0"
	wrongMax    = "The max replicas should be a integer."
	minAboveMax = "The max replicas should be same or bigger than min replicas."
)

// problemOf returns the first error in the scaling of a runtime, or the empty string.
func problemOf(annotations map[string]string, replicas bool) string {
	class, hasClass := annotations[annotationClass]
	if hasClass {
		if problem := problemOfClass(class, annotations); problem != "" {
			return problem
		}
	}
	if target, found := annotations[annotationTarget]; found {
		if percent, err := strconv.Atoi(target); err != nil || percent < 1 || percent > 100 {
			return wrongTarget
		}
	}
	if class != classHPA {
		return ""
	}
	if replicas {
		return bothScaled
	}
	return problemOfBounds(annotations)
}

func problemOfClass(class string, annotations map[string]string) string {
	switch class {
	case classHPA:
		if metric, found := annotations[annotationMetric]; found && metric != "cpu" && metric != "memory" {
			return fmt.Sprintf("[%s] is not a supported metric.", metric)
		}
		return ""
	case "external":
		return "unknown autoscaler class [external]"
	}
	return fmt.Sprintf("[%s] is not a supported autoscaler class type.", class)
}

// problemOfBounds checks the smallest and the largest number of pods. Each defaults to 1.
func problemOfBounds(annotations map[string]string) string {
	smallest, largest := 1, 1
	var err error
	if text, found := annotations[annotationMin]; found {
		switch smallest, err = strconv.Atoi(text); {
		case err != nil:
			return wrongMin
		case smallest < 1:
			return minTooSmall
		}
	}
	if text, found := annotations[annotationMax]; found {
		if largest, err = strconv.Atoi(text); err != nil {
			return wrongMax
		}
	}
	if smallest > largest {
		return minAboveMax
	}
	return ""
}
