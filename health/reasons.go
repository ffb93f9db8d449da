package health

// Reasons of [Categorize].
const (
	// reasonUnknown is the reason for an error of unknown origin.
	reasonUnknown = "UnknownError"
	// reasonTimeout is the reason for an exceeded deadline, of the client or the API server.
	reasonTimeout = "Timeout"
	// reasonCanceled is the reason for a canceled request, usually because the process stops.
	reasonCanceled = "Canceled"
	// reasonKindNotServed is the reason for a kind that the API server does not serve: its CustomResourceDefinition is missing.
	reasonKindNotServed = "KindNotServed"
	// reasonNotFound is the reason for an object that does not exist.
	reasonNotFound = "NotFound"
	// reasonAlreadyExists is the reason for creating an object that exists.
	reasonAlreadyExists = "AlreadyExists"
	// reasonConflict is the reason for an outdated resourceVersion or a failed precondition.
	reasonConflict = "Conflict"
	// reasonFieldsContested is the reason for fields that another field manager owns (server-side apply).
	reasonFieldsContested = "FieldsContested"
	// reasonOwnedByAnother is the reason for an object that another controller owns.
	reasonOwnedByAnother = "OwnedByAnother"
	// reasonInvalid is the reason for an object whose fields the API server rejects.
	reasonInvalid = "InvalidSpec"
	// reasonTooLarge is the reason for a request, or an object, above the limit of the API server or its storage.
	reasonTooLarge = "TooLarge"
	// reasonUnauthorized is the reason for credentials that the API server rejects.
	reasonUnauthorized = "Unauthorized"
	// reasonForbidden is the reason for a missing permission; the message names user, verb and resource.
	reasonForbidden = "Forbidden"
	// reasonWebhookDenied is the reason for a request that an admission webhook denied.
	reasonWebhookDenied = "AdmissionWebhookDenied"
	// reasonWebhookFailed is the reason for an admission webhook that could not be called.
	reasonWebhookFailed = "AdmissionWebhookFailed"
	// reasonConversionFailed is the reason for a conversion webhook that failed.
	reasonConversionFailed = "ConversionWebhookFailed"
	// reasonPolicyDenied is the reason for a request that a ValidatingAdmissionPolicy or a MutatingAdmissionPolicy denied.
	reasonPolicyDenied = "AdmissionPolicyDenied"
	// reasonPodSecurity is the reason for a pod that the namespace's Pod Security Standard does not allow.
	reasonPodSecurity = "PodSecurityViolation"
	// reasonQuotaExceeded is the reason for an object that exceeds a ResourceQuota.
	reasonQuotaExceeded = "QuotaExceeded"
	// reasonLimitRange is the reason for an object that violates a LimitRange.
	reasonLimitRange = "LimitRangeViolation"
	// reasonAdmissionDenied is the reason for a request that an admission plugin of the API server denied.
	reasonAdmissionDenied = "AdmissionDenied"
	// reasonStorageFull is the reason for an API server whose storage is full.
	reasonStorageFull = "StorageFull"
	// reasonStorageFailed is the reason for another failure of the API server's storage.
	reasonStorageFailed = "StorageFailed"
	// reasonNamespaceNotWatched is the reason for an object in a namespace that the operator does not watch.
	reasonNamespaceNotWatched = "NamespaceNotWatched"
	// reasonNamespaceTerminating is the reason for creating an object in a namespace that is being deleted.
	reasonNamespaceTerminating = "NamespaceTerminating"
	// reasonRateLimited is the reason for an overloaded API server (429).
	reasonRateLimited = "RateLimited"
	// reasonServiceUnavailable is the reason for a response with code 503.
	reasonServiceUnavailable = "ServiceUnavailable"
	// reasonServerError is the reason for a response with another 5xx code; the message has the details.
	reasonServerError = "ServerError"
	// reasonCertificate is the reason for a certificate that cannot be verified: expired, for another name, of an unknown authority.
	reasonCertificate = "CertificateInvalid"
	// reasonDNS is the reason for a host name that was not found.
	reasonDNS = "DNSFailure"
	// reasonConnectionRefused is the reason for a host that does not listen on the port.
	reasonConnectionRefused = "ConnectionRefused"
	// reasonConnectionReset is the reason for an interrupted connection or response.
	reasonConnectionReset = "ConnectionReset"
	// reasonNetworkTimeout is the reason for a host that did not answer in time.
	reasonNetworkTimeout = "NetworkTimeout"
	// reasonNetwork is the reason for another network failure.
	reasonNetwork = "NetworkError"
	// reasonKindNotInScheme is the reason for a Go type that was not added to the scheme: a defect of the operator.
	reasonKindNotInScheme = "KindNotInScheme"
)

const notServed = "The API server does not serve this kind: "
