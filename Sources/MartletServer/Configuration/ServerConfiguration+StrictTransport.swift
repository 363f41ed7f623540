extension ServerConfiguration {
    /// Whether browsers are asked to use only TLS from now on.
    ///
    /// With `--tls-self-signed` they are not asked. If the server gets a new private authority, browsers warn about the
    /// new certificate, and a browser that has to use TLS does not let people continue after the warning.
    var asksForStrictTransport: Bool {
        switch tls {
        case .files, .acme: true
        case .selfSigned, nil: false
        }
    }
}
