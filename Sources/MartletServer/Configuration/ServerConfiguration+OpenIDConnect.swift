import MartletOpenIDConnect

extension ServerConfiguration {
    /// An identity provider whose tokens the app backend accepts.
    public struct OpenIDConnect: Hashable, Sendable {
        /// The issuer, exactly as it is in the provider's tokens.
        public var issuer: String
        /// The identifier under which the provider knows this server.
        public var audience: String
        /// The URL of the provider's keys; nil if the URL is read from the provider's configuration.
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

        /// The default name of the claim that contains a user's name. Most providers put into this claim the name by
        /// which users know each other.
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
