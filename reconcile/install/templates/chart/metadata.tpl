apiVersion: v2
name: [[ .Chart ]]
description: The operator [[ .Chart ]]
type: application
version: [[ .Version ]]
appVersion: [[ .Version | quote ]]
