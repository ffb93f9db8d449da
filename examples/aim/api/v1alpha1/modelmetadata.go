package v1alpha1

// ImageMetadata contains the metadata in the labels of an image.
type ImageMetadata struct {
	// Model is the metadata of the model.
	// +optional
	Model *ModelMetadata `json:"model,omitempty"`
	// OCI contains the standard annotations.
	// +optional
	OCI *OCIMetadata `json:"oci,omitempty"`
	// OriginalLabels are the labels as they are.
	// +optional
	OriginalLabels map[string]string `json:"originalLabels,omitempty"`
}

// ModelMetadata describes the model of an image.
type ModelMetadata struct {
	// CanonicalName of the model.
	// +optional
	CanonicalName string `json:"canonicalName,omitempty"`
	// Source of the model.
	// +optional
	Source string `json:"source,omitempty"`
	// Tags of the model.
	// +optional
	Tags []string `json:"tags,omitempty"`
	// Versions of the model.
	// +optional
	Versions []string `json:"versions,omitempty"`
	// Variants of the model.
	// +optional
	Variants []string `json:"variants,omitempty"`
	// HFTokenRequired reports whether the download needs a token.
	// +optional
	HFTokenRequired bool `json:"hfTokenRequired,omitempty"`
	// Title of the model.
	// +optional
	Title string `json:"title,omitempty"`
	// DescriptionFull describes the model.
	// +optional
	DescriptionFull string `json:"descriptionFull,omitempty"`
	// ReleaseNotes of the model.
	// +optional
	ReleaseNotes string `json:"releaseNotes,omitempty"`
	// RecommendedDeployments of the model.
	// +optional
	RecommendedDeployments []RecommendedDeployment `json:"recommendedDeployments,omitempty"`
}

// RecommendedDeployment is a deployment that the image recommends.
type RecommendedDeployment struct {
	// GPUModel of the deployment.
	// +optional
	GPUModel string `json:"gpuModel,omitempty"`
	// GPUCount of the deployment.
	// +optional
	GPUCount int32 `json:"gpuCount,omitempty"`
	// Precision of the deployment.
	// +optional
	Precision string `json:"precision,omitempty"`
	// Metric that the deployment is tuned for.
	// +optional
	Metric string `json:"metric,omitempty"`
	// ProfileID of the deployment.
	// +optional
	ProfileID string `json:"profileId,omitempty"`
	// Description of the deployment.
	// +optional
	Description string `json:"description,omitempty"`
}

// OCIMetadata are the standard annotations of an image.
type OCIMetadata struct {
	// Title of the image.
	// +optional
	Title string `json:"title,omitempty"`
	// Description of the image.
	// +optional
	Description string `json:"description,omitempty"`
	// Licenses of the image.
	// +optional
	Licenses string `json:"licenses,omitempty"`
	// Vendor of the image.
	// +optional
	Vendor string `json:"vendor,omitempty"`
	// Authors of the image.
	// +optional
	Authors string `json:"authors,omitempty"`
	// Source of the image.
	// +optional
	Source string `json:"source,omitempty"`
	// Documentation of the image.
	// +optional
	Documentation string `json:"documentation,omitempty"`
	// Created is the creation time of the image.
	// +optional
	Created string `json:"created,omitempty"`
	// Revision of the image's source.
	// +optional
	Revision string `json:"revision,omitempty"`
	// Version of the image.
	// +optional
	Version string `json:"version,omitempty"`
}
