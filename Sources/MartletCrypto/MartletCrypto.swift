import CMartletArgon2
import CMartletOpenSSL

func probe() { _ = argon2_error_message(0) }
