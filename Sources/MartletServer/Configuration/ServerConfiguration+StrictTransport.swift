extension ServerConfiguration {
    /// Whether browsers are asked to use only TLS from now on.
    ///
    /// They are not with the certificate of `--tls-self-signed`. A browser that has trusted it would let nobody continue
    /// after a warning when the server gets a new private authority.
    var asksForStrictTransport: Bool {
        switch tls {
        case .files, .acme: true
        case .selfSigned, nil: false
        }
    }
}
