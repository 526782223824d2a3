import numpy as np, cupy, time, ordito, sys
sys.path.insert(0, 'tools/compare')
from python_solvers import stencil27
from ordito.linalg import lobpcg,last_info
import warnings; warnings.simplefilter('ignore')
for side,k in ((60,8),(60,16),(100,8),(100,16),(130,8),(130,16),(130,32)):
    a=stencil27(side); A=ordito.csr(a,device='cuda'); n=a.shape[0]
    x=cupy.asarray(np.random.default_rng(0).normal(size=(n,k)))
    for _ in range(2):
        lobpcg(A,x,largest=False,tol=1e-30,maxiter=60)
    i=last_info(); s=[t[0] for t in i.steps]; per=np.median(np.diff(s)[5:])
    y=cupy.empty((n,k)); z=cupy.empty((n,k))
    e=[cupy.cuda.Event() for _ in range(2)]
    for _ in range(3): y[...]=z
    e[0].record(); [y.__setitem__(Ellipsis,z) for _ in range(20)]; e[1].record(); e[1].synchronize(); copy=2*8*n*k*20/ (cupy.cuda.get_elapsed_time(*e)*1e-3)
    e[0].record(); [A.matmul(x,y) for _ in range(20)]; e[1].record(); e[1].synchronize(); prod=cupy.cuda.get_elapsed_time(*e)/20*1e-3
    unit=8*n*k; bytes_dense=unit*(3+3+4+4+5+5); bytes_product=a.nnz*12+2*unit
    print(f"side {side} n {n} k {k}: iteration {per*1e6:.0f} us, product {prod*1e6:.0f} us, copy {copy/1e12:.2f} TB/s; dense bytes over copy {bytes_dense/copy*1e6:.0f} us; all bytes over copy {(bytes_dense+bytes_product)/copy*1e6:.0f} us, ratio {per/((bytes_dense+bytes_product)/copy):.2f}; small {i.times['small']/len(s)*1e6:.0f} gram {i.times['gram']/len(s)*1e6:.0f} combine {i.times['combine']/len(s)*1e6:.0f} product {i.times['product']/len(s)*1e6:.0f}")
