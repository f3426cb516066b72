module osso.example/operator/warm-runner

go 1.25.7
