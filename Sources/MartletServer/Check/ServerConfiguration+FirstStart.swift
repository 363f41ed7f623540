import Glibc

extension ServerConfiguration {
    /// Checks, before a data directory is made, what would refuse the start after it was made: the certificate, the token
    /// for metrics, and the ports. For a data directory that exists, the start itself checks them.
    func checkFirstStart() throws(ServerError) {
        guard access(dataDirectory, F_OK) != 0 else { return }
        if case .files(let certificate, let key) = tls {
            try ServedCertificate(certificateFile: certificate, keyFile: key).checkEnd(at: SystemTime().now)
        }
        _ = try metricsToken()
        for result in ServerCheck(self).ports() where result.level == .problem {
            throw ServerError(result.sentence)
        }
    }
}
