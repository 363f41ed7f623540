import MartletConsole
import MartletHTTP
import MartletOpenIDConnect

extension ServerConfiguration {
    /// The identity provider with which operators sign in to the console.
    public struct ConsoleOpenIDConnect: Hashable, Sendable {
        /// The issuer, exactly as it is in the provider's tokens.
        public var issuer: String
        /// The identifier under which the provider knows the console.
        public var clientID: String
        /// The path of a file with the secret shared with the provider; nil for a client without a secret.
        public var secretFile: String?
        /// The rules that say which values of the claim `rolesClaim` give which roles.
        let roles: ProviderRoles
        /// The name or path of the claim whose values give roles.
        public var rolesClaim: String
        /// The scopes that the console requests from the provider, separated by spaces.
        public var scopes: String
        /// The name on the button of the sign-in page; nil for the issuer's host.
        public var name: String?

        /// - Parameter roles: The rules, such as `admin=ops, sender@shop=marketing`.
        /// - Throws: `ServerError` if the rules cannot be used.
        public init(
            issuer: String, clientID: String, secretFile: String? = nil, roles: String,
            rolesClaim: String = defaultRolesClaim, scopes: String = defaultScopes, name: String? = nil
        ) throws(ServerError) {
            do throws(ProviderRoles.Problem) {
                self.roles = try ProviderRoles(roles)
            } catch {
                throw ServerError("--console-oidc-roles: \(error)")
            }
            self.issuer = issuer
            self.clientID = clientID
            self.secretFile = secretFile
            self.rolesClaim = rolesClaim
            self.scopes = scopes
            self.name = name
        }

        /// The claim in which most providers put the groups of a person.
        public static let defaultRolesClaim = "groups"
        public static let defaultScopes = "openid profile email"

        private static let secretLimit = 1024
        private static let scopesLimit = 512
        private static let nameLimit = 64

        /// Checks the options, except the file with the secret.
        func settings() throws(ServerError) -> OpenIDConnectSettings {
            guard !scopes.isEmpty, scopes.utf8.count <= Self.scopesLimit,
                scopes.split(separator: " ").contains("openid"), scopes.utf8.allSatisfy({ (0x20..<0x7F).contains($0) })
            else { throw ServerError("--console-oidc-scopes must contain 'openid': scopes with spaces between them.") }
            guard name.map(Self.isName) ?? true else {
                throw ServerError(
                    "--console-oidc-name must have 1 to \(Self.nameLimit) characters, without control characters.")
            }
            do throws(OpenIDConnectError) {
                return try OpenIDConnectSettings(issuer: issuer, audience: clientID, rolesClaim: rolesClaim)
            } catch {
                switch error {
                case .badIssuer, .badKeys: throw ServerError("--console-oidc-issuer: \(OpenIDConnectError.badIssuer)")
                case .badAudience: throw ServerError("--console-oidc-client-id must not be empty.")
                case .badClaim: throw ServerError("--console-oidc-roles-claim: \(error)")
                }
            }
        }

        /// The name on the button of the sign-in page.
        var shownName: String { name ?? HTTPOrigin.splitting(issuer)?.origin.host ?? issuer }

        private static func isName(_ text: String) -> Bool {
            (1...nameLimit).contains(text.count)
                && text.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) }
        }

        /// Reads the secret; nil if no file is configured.
        func secret() throws(ServerError) -> String? {
            guard let secretFile else { return nil }
            guard let line = try SecretFile.line(secretFile, limit: Self.secretLimit) else {
                throw ServerError("There is no file '\(secretFile)' for --console-oidc-client-secret-file.")
            }
            guard (1...Self.secretLimit).contains(line.count), line.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw ServerError(
                    "The file of --console-oidc-client-secret-file must have one line of at most \(Self.secretLimit) "
                        + "visible ASCII characters: the client's secret.")
            }
            return String(decoding: line, as: UTF8.self)
        }
    }
}
