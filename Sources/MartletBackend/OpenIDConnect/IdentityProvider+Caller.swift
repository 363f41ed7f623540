import MartletOpenIDConnect

extension IdentityProvider {
    /// Returns the user to whom a token belongs.
    func caller(showing text: String) async throws(BackendError) -> Caller {
        let claims: IdentityClaims
        do throws(IdentityProviderError) {
            claims = try await self.claims(of: text)
        } catch {
            switch error {
            case .refused(let refusal): throw BackendError(refusal)
            case .unavailable(let seconds): throw .noIdentityProvider(retryAfter: seconds)
            // Only `claims(for:client:)`, which exchanges a code, throws these errors.
            case .badCode, .noToken: throw .noIdentityProvider(retryAfter: 1)
            }
        }
        do throws(TokenRefusal) {
            return try claims.caller()
        } catch {
            throw BackendError(error)
        }
    }
}

extension IdentityClaims {
    /// Returns the user whom the claims name.
    func caller() throws(TokenRefusal) -> Caller {
        guard let name = text(userClaim).flatMap({ try? UserName($0) }) else { throw .noUser(claim: userClaim) }
        guard userClaim != "email" || isAddressVerified else { throw .unverifiedAddress }
        return Caller(name: name, roles: roles, hasRolesOfProvider: true)
    }
}
