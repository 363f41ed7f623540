import MartletHTTP

/// The header fields of every answer of the console.
enum ConsoleHeaders {
    /// Allows only the console's own files: no inline script or style, no other host, no frame. The only trusted URL
    /// that a script can make is that of the service worker, with the policy `worker` (W3C Trusted Types).
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

    /// Sets the fields, in place of fields of the same names.
    static func add(to response: inout HTTPResponse) {
        for field in fields { response.fields[field.name] = field.value }
    }
}
