import CMartletOpenSSL

/// The cryptographic library that this module uses.
public enum CryptoLibrary {
    /// The version of OpenSSL in use, such as `3.0.19`.
    public static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION_STRING)) }
}
