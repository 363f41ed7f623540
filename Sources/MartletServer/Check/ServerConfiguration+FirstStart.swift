import Glibc

extension ServerConfiguration {
    /// Checks the certificate, the token for metrics, the secret of the console's identity provider and the ports
    /// before a data directory is created.
    ///
    /// So a problem is found before anything is written to disk. If the data directory exists already, the start itself
    /// finds these problems.
    func checkFirstStart() throws(ServerError) {
        guard access(dataDirectory, F_OK) != 0 else { return }
        if case .files(let certificate, let key) = tls {
            try ServedCertificate(certificateFile: certificate, keyFile: key).checkEnd(at: SystemTime().now)
        }
        _ = try metricsToken()
        _ = try consoleOpenIDConnect?.secret()
        for result in ServerCheck(self).ports() where result.level == .problem {
            throw ServerError(result.sentence)
        }
    }
}
