package v1alpha1

// ImageMetadata contains the metadata in the labels of an image.
type ImageMetadata struct {
	// Model describes the model in the image.
	// +optional
	Model *ModelMetadata `json:"model,omitempty"`
	// OCI contains the standard OCI annotations.
	// +optional
	OCI *OCIMetadata `json:"oci,omitempty"`
	// OriginalLabels are the unchanged labels of the image.
	// +optional
	OriginalLabels map[string]string `json:"originalLabels,omitempty"`
}

// ModelMetadata describes the model of an image.
type ModelMetadata struct {
	// CanonicalName is the canonical name of the model.
	// +optional
	CanonicalName string `json:"canonicalName,omitempty"`
	// Source is the origin of the model.
	// +optional
	Source string `json:"source,omitempty"`
	// Tags are the tags of the model.
	// +optional
	Tags []string `json:"tags,omitempty"`
	// Versions are the versions of the model.
	// +optional
	Versions []string `json:"versions,omitempty"`
	// Variants are the variants of the model.
	// +optional
	Variants []string `json:"variants,omitempty"`
	// HFTokenRequired reports whether the download needs a token.
	// +optional
	HFTokenRequired bool `json:"hfTokenRequired,omitempty"`
	// Title is the title of the model.
	// +optional
	Title string `json:"title,omitempty"`
	// DescriptionFull describes the model.
	// +optional
	DescriptionFull string `json:"descriptionFull,omitempty"`
	// ReleaseNotes are the release notes of the model.
	// +optional
	ReleaseNotes string `json:"releaseNotes,omitempty"`
	// RecommendedDeployments are the deployments that the image recommends.
	// +optional
	RecommendedDeployments []RecommendedDeployment `json:"recommendedDeployments,omitempty"`
}

// RecommendedDeployment is a deployment that the image recommends.
type RecommendedDeployment struct {
	// GPUModel is the GPU model of the deployment.
	// +optional
	GPUModel string `json:"gpuModel,omitempty"`
	// GPUCount is the number of GPUs of the deployment.
	// +optional
	GPUCount int32 `json:"gpuCount,omitempty"`
	// Precision is the number format of the deployment.
	// +optional
	Precision string `json:"precision,omitempty"`
	// Metric is the metric that the deployment optimizes.
	// +optional
	Metric string `json:"metric,omitempty"`
	// ProfileID is the ID of the deployment's profile.
	// +optional
	ProfileID string `json:"profileId,omitempty"`
	// Description describes the deployment.
	// +optional
	Description string `json:"description,omitempty"`
}

// OCIMetadata contains the standard OCI annotations of an image.
type OCIMetadata struct {
	// Title is the title of the image.
	// +optional
	Title string `json:"title,omitempty"`
	// Description describes the image.
	// +optional
	Description string `json:"description,omitempty"`
	// Licenses are the licenses of the image.
	// +optional
	Licenses string `json:"licenses,omitempty"`
	// Vendor is the vendor of the image.
	// +optional
	Vendor string `json:"vendor,omitempty"`
	// Authors are the authors of the image.
	// +optional
	Authors string `json:"authors,omitempty"`
	// Source is the URL of the image's source code.
	// +optional
	Source string `json:"source,omitempty"`
	// Documentation is the URL of the image's documentation.
	// +optional
	Documentation string `json:"documentation,omitempty"`
	// Created is the creation time of the image.
	// +optional
	Created string `json:"created,omitempty"`
	// Revision is the revision of the image's source code.
	// +optional
	Revision string `json:"revision,omitempty"`
	// Version is the version of the image.
	// +optional
	Version string `json:"version,omitempty"`
}
