import MartletBackend

extension ServerConfiguration {
    /// An identity provider whose tokens the app backend accepts.
    public struct OpenIDConnect: Hashable, Sendable {
        /// As it is in the provider's tokens.
        public var issuer: String
        /// What the provider calls this server.
        public var audience: String
        /// Where the provider's keys are; nil where its configuration says it.
        public var keys: String?
        public var userClaim: String
        public var rolesClaim: String?

        public init(
            issuer: String, audience: String, keys: String? = nil, userClaim: String = defaultUserClaim,
            rolesClaim: String? = nil
        ) {
            self.issuer = issuer
            self.audience = audience
            self.keys = keys
            self.userClaim = userClaim
            self.rolesClaim = rolesClaim
        }

        /// The claim by which people know each other at most providers.
        public static let defaultUserClaim = OpenIDConnectSettings.defaultUserClaim

        func settings() throws(ServerError) -> OpenIDConnectSettings {
            do throws(OpenIDConnectError) {
                return try OpenIDConnectSettings(
                    issuer: issuer, audience: audience, keys: keys, userClaim: userClaim, rolesClaim: rolesClaim)
            } catch {
                throw ServerError(Self.option(error) + ": \(error)")
            }
        }

        private static func option(_ error: OpenIDConnectError) -> String {
            switch error {
            case .badIssuer: "--oidc-issuer"
            case .badAudience: "--oidc-audience"
            case .badKeys: "--oidc-jwks"
            case .badClaim: "--oidc-user-claim or --oidc-roles-claim"
            }
        }
    }
}
