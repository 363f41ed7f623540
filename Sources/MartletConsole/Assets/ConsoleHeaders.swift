import MartletHTTP

/// The header fields of every answer of the console.
enum ConsoleHeaders {
    /// The policy that lets a page load only the console's own files: no inline script or style, no other host, no
    /// frame. A script can create a trusted URL only with the policy `worker` (W3C Trusted Types), which is for the URL
    /// of the service worker.
    static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob:", "connect-src 'self'",
        "worker-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types worker",
    ].joined(separator: "; ")

    private static let fields: [HTTPField] = [
        HTTPField("content-security-policy", contentSecurityPolicy),
        HTTPField("x-content-type-options", "nosniff"),
        HTTPField("referrer-policy", "no-referrer"),
        HTTPField("cross-origin-opener-policy", "same-origin"),
        HTTPField("cross-origin-resource-policy", "same-origin"),
        HTTPField("permissions-policy", "camera=(), microphone=(), geolocation=()"),
        HTTPField("x-frame-options", "DENY"),
    ]

    /// Adds the header fields to an answer. A field that the answer already has is replaced.
    static func add(to response: inout HTTPResponse) {
        for field in fields { response.fields[field.name] = field.value }
    }
}
