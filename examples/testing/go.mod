module example.com/sandbox

go 1.19
