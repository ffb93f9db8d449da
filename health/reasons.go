package health

// Reasons that [Categorize] gives: who or what refused, or failed.
const (
	// reasonUnknown stands for an error that nothing is known about.
	reasonUnknown = "UnknownError"
	// reasonTimeout stands for a deadline that passed, here or at the API server.
	reasonTimeout = "Timeout"
	// reasonCanceled stands for a request that was given up, mostly because the process stops.
	reasonCanceled = "Canceled"
	// reasonKindNotServed stands for a kind that the API server does not know: its CustomResourceDefinition is missing.
	reasonKindNotServed = "KindNotServed"
	// reasonNotFound stands for an object that does not exist.
	reasonNotFound = "NotFound"
	// reasonAlreadyExists stands for a create of an object that exists.
	reasonAlreadyExists = "AlreadyExists"
	// reasonConflict stands for an outdated resourceVersion or a precondition that failed.
	reasonConflict = "Conflict"
	// reasonFieldsContested stands for fields that another field manager owns (server-side apply).
	reasonFieldsContested = "FieldsContested"
	// reasonOwnedByAnother stands for an object that another controller owns.
	reasonOwnedByAnother = "OwnedByAnother"
	// reasonInvalid stands for an object whose fields the API server refuses.
	reasonInvalid = "InvalidSpec"
	// reasonTooLarge stands for a request, or an object, above what the API server or its storage accepts.
	reasonTooLarge = "TooLarge"
	// reasonUnauthorized stands for credentials that the API server does not accept.
	reasonUnauthorized = "Unauthorized"
	// reasonForbidden stands for a missing right; the message names user, verb and resource.
	reasonForbidden = "Forbidden"
	// reasonWebhookDenied stands for a request that an admission webhook has denied.
	reasonWebhookDenied = "AdmissionWebhookDenied"
	// reasonWebhookFailed stands for an admission webhook that could not be called.
	reasonWebhookFailed = "AdmissionWebhookFailed"
	// reasonConversionFailed stands for a conversion webhook that failed.
	reasonConversionFailed = "ConversionWebhookFailed"
	// reasonPolicyDenied stands for a request that a ValidatingAdmissionPolicy or a MutatingAdmissionPolicy has denied.
	reasonPolicyDenied = "AdmissionPolicyDenied"
	// reasonPodSecurity stands for a pod that the namespace's Pod Security Standard does not allow.
	reasonPodSecurity = "PodSecurityViolation"
	// reasonQuotaExceeded stands for a ResourceQuota that does not allow the object.
	reasonQuotaExceeded = "QuotaExceeded"
	// reasonLimitRange stands for a LimitRange that does not allow the object.
	reasonLimitRange = "LimitRangeViolation"
	// reasonAdmissionDenied stands for a request that an admission plugin of the API server itself has denied.
	reasonAdmissionDenied = "AdmissionDenied"
	// reasonStorageFull stands for an API server whose storage takes nothing more.
	reasonStorageFull = "StorageFull"
	// reasonStorageFailed stands for another failure of the API server's storage.
	reasonStorageFailed = "StorageFailed"
	// reasonNamespaceNotWatched stands for an object in a namespace that the operator was not told to work in.
	reasonNamespaceNotWatched = "NamespaceNotWatched"
	// reasonNamespaceTerminating stands for a create in a namespace that is being deleted.
	reasonNamespaceTerminating = "NamespaceTerminating"
	// reasonRateLimited stands for an API server that has too much to do (429).
	reasonRateLimited = "RateLimited"
	// reasonServiceUnavailable stands for a 503.
	reasonServiceUnavailable = "ServiceUnavailable"
	// reasonServerError stands for another 5xx; the message has what went wrong.
	reasonServerError = "ServerError"
	// reasonCertificate stands for a certificate that cannot be verified: expired, of another name, of an unknown authority.
	reasonCertificate = "CertificateInvalid"
	// reasonDNS stands for a host name that was not found.
	reasonDNS = "DNSFailure"
	// reasonConnectionRefused stands for a host that does not listen on that port.
	reasonConnectionRefused = "ConnectionRefused"
	// reasonConnectionReset stands for a connection, or an answer, that broke off.
	reasonConnectionReset = "ConnectionReset"
	// reasonNetworkTimeout stands for a host that did not answer in time.
	reasonNetworkTimeout = "NetworkTimeout"
	// reasonNetwork stands for another failure of the network.
	reasonNetwork = "NetworkError"
	// reasonKindNotInScheme stands for a Go type that was not added to the scheme: a mistake of the program.
	reasonKindNotInScheme = "KindNotInScheme"
)

const notServed = "The API server does not serve this kind: "
